import pytest

from tests.interop.pi import Pi, find_pi


@pytest.fixture(scope="session")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Pi:
    """The real pi; see `find_pi` for what happens where it is missing."""
    return Pi(find_pi(), tmp_path_factory.mktemp("pi"))
