"""What the Python tests share: functions that are cases, and how one of them fails."""

CASES = []


def case(function):
    CASES.append(function)
    return function


class Failure(Exception):
    pass


def expect(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}:\n--- got\n{got}\n--- wanted\n{wanted}")
