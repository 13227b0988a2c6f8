from __future__ import annotations

from tenue.engine.server import InServer


def test_a_table_is_known_by_what_the_catalogue_says() -> None:
    said = ["1 2 public.t\nage integer"]
    mark = InServer('"public"."t"', lambda: said[0], "age number")
    stamp = mark.stamp()
    assert mark.unchanged()
    assert InServer('"public"."t"', lambda: said[0], "age number").stamp() == stamp
    assert InServer('"public"."t"', lambda: said[0], "age date").stamp().reading != stamp.reading
    said[0] = "1 3 public.t\nage integer"  # dropped, and made again
    assert not mark.unchanged()
    assert InServer('"public"."t"', lambda: said[0], "age number").stamp().mark != stamp.mark
    assert mark.digest() == stamp.mark
