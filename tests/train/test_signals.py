"""Ctrl-C stays a request, whatever an env does with the signals."""

import os
import signal

from nbyt.train.signals import stop_on_signal


def test_signals_that_an_env_takes_are_taken_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stop_on_signal() as request:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.kill(os.getpid(), signal.SIGTERM)
        assert not request.made
        request.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        assert request.made
        request.listen()  # the second is for whoever listened before, at once
        assert signal.getsignal(signal.SIGTERM) is before
    assert signal.getsignal(signal.SIGTERM) is before
