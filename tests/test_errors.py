import inspect

from tallystick import errors

NAMES = {name for name, held in vars(errors).items() if inspect.isclass(held)}


def test_the_tree_drawn_in_the_docstring_is_the_tree_in_the_code():
    drawn = {
        line.split("──")[1].split()[0]
        for line in (errors.__doc__ or "").splitlines()
        if "──" in line
    }
    assert drawn == NAMES - {"TallystickError"}


def test_every_error_is_a_tallystick_error_and_says_what_it_is_for():
    for name in sorted(NAMES):
        error = getattr(errors, name)
        assert issubclass(error, errors.TallystickError)
        assert inspect.getdoc(error)


def test_bad_input_can_be_caught_as_a_value_error():
    assert issubclass(errors.MergeError, ValueError)
    assert issubclass(errors.FormatError, errors.FileError)


def test_a_missing_extra_says_how_to_install_it():
    assert (
        str(errors.MissingExtra("torch", "torch"))
        == "torch is not installed: pip install 'tallystick[torch]'"
    )
    assert issubclass(errors.MissingExtra, ImportError)
