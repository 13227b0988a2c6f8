"""Tables for notebooks: escaped, and cut where they are long."""

from __future__ import annotations

from tenue.screen.table import escaped, html_table


def test_everything_is_escaped() -> None:
    page = html_table([["<i>"], ['"&']], before=["<p>"], after=["<script>"])
    assert page == (
        "<p>&lt;p&gt;</p><table><thead><tr><th>&lt;i&gt;</th></tr></thead><tbody><tr>"
        "<td>&quot;&amp;</td></tr></tbody></table><p>&lt;script&gt;</p>"
    )


def test_long_tables_are_cut_and_say_so() -> None:
    page = html_table([["n"], *([str(n)] for n in range(1200))])
    assert page.count("<tr>") == 201
    assert "… and 1,000 rows more" in page


def test_signs_of_html_are_written_out() -> None:
    assert escaped("<b> & \"c\" 'd'") == "&lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;"
