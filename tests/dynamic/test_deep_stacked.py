import pytest

torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")

from torch.nn import functional  # noqa: E402  after the skip

from benchmarks.truth.dynamic_networks import StackedBiLSTM, StackedCNN  # noqa: E402


def test_the_stacked_cnn_is_the_plain_network_of_every_model():
    stack = StackedCNN(3, rng=torch.Generator().manual_seed(0))
    images = torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(1)) - 0.5
    with torch.no_grad():
        for bias in stack.parameters()[1::2]:
            bias += torch.rand(bias.shape, generator=torch.Generator().manual_seed(2)) - 0.5
        logits = stack.forward()(stack.parameters(), images, False)
        for m in range(3):
            w1, b1, w2, b2, w3, b3 = (tensor[m] for tensor in stack.parameters())
            x = functional.max_pool2d(torch.relu(functional.conv2d(images, w1, b1)), 2)
            x = functional.max_pool2d(torch.relu(functional.conv2d(x, w2, b2)), 2)
            plain = x.permute(0, 2, 3, 1).flatten(1) @ w3 + b3
            assert torch.allclose(logits[m], plain, atol=1e-4)


def test_the_stacked_bilstm_is_torchs_own_lstm_of_every_model():
    rng = torch.Generator().manual_seed(3)
    vectors = torch.randn(20, 100, generator=rng)
    vectors[0] = 0
    stack = StackedBiLSTM(2, vectors, rng=rng)
    words = torch.zeros(3, 2, 6, dtype=torch.long)
    for i, size in enumerate((6, 4, 1)):
        words[i, :, :size] = torch.randint(1, 20, (2, size), generator=rng)
    inward, across, bias, *dense = stack.parameters()
    with torch.no_grad():
        logits = stack.forward()(stack.parameters(), words, False)
        for m in range(2):
            states = []
            for stream in range(4):
                lstm = torch.nn.LSTM(100, 32, batch_first=True)
                lstm.weight_ih_l0.copy_(inward[stream * 2 + m].T)
                lstm.weight_hh_l0.copy_(across[stream * 2 + m].T)
                lstm.bias_ih_l0.copy_(bias[stream * 2 + m, 0])
                lstm.bias_hh_l0.zero_()
                last = []
                for i, size in enumerate((6, 4, 1)):
                    sentence = words[i, stream // 2, :size]
                    sentence = sentence.flip(0) if stream % 2 else sentence
                    last.append(lstm(vectors[sentence].unsqueeze(0))[1][0][0, 0])
                states.append(torch.stack(last))
            x = torch.cat(states, 1)
            for weight, offset in zip(dense[:-2:2], dense[1:-2:2], strict=True):
                x = torch.relu(x @ weight[m] + offset[m])
            assert torch.allclose(logits[m], x @ dense[-2][m] + dense[-1][m], atol=1e-5)
