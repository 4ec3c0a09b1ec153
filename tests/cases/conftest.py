from tests.cli.conftest import pivcs, plain_surroundings

__all__ = ["pivcs", "plain_surroundings"]
