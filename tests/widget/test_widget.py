"""The diagram in a real browser: what a reader presses, sees, hears and links to."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

Open = Callable[..., Page]
INTERACTIVE = "button, select, input, a, summary"


def diagram_of(page: Page) -> Locator:
    return page.locator("tile-lifecycle")


def button(page: Page, name: str) -> Locator:
    return diagram_of(page).get_by_role("button", name=name, exact=True)


def where(page: Page) -> Locator:
    return diagram_of(page).locator(".where")


def heard(page: Page) -> Locator:
    return diagram_of(page).get_by_role("status")


def stop_the_clock(page: Page) -> None:
    """From here on time passes only where a test lets it."""
    page.clock.install(time=0)
    page.clock.pause_at(60_000)


# ── stepping ─────────────────────────────────────────────────────────────────────────────────


def test_step_and_back_move_one_step_and_say_it(open_page: Open) -> None:
    """Step and Back move by one, show the step and say its sentence in the live region."""
    page = open_page()
    for _ in range(3):
        button(page, "Step").click()
    expect(where(page)).to_have_text("Step 3 of 40")
    expect(heard(page)).to_contain_text("Warp 0 reads cells 28 to 31.")
    expect(heard(page)).to_contain_text("Wrong, and a hazard.")
    button(page, "Back").click()
    expect(heard(page)).to_have_text("Step 2. Warp 0 writes cells 0 to 3.")


def test_the_telling_moment_shows_four_hazards(open_page: Open) -> None:
    """One press leads to the first wrong read, whose cells carry both marks."""
    page = open_page()
    button(page, "Telling moment").click()
    expect(diagram_of(page).locator(".cell.hazard.wrong")).to_have_count(4)
    expect(diagram_of(page).locator(".tally")).to_have_text("!4 hazards\u27174 wrong values")


def test_the_slider_leads_to_its_step(open_page: Open) -> None:
    """By key and by mouse the slider shows the step it stands at, and stops what plays."""
    page = open_page()
    slider = diagram_of(page).get_by_role("slider", name="Step")
    button(page, "Play").click()
    slider.press("End")
    expect(where(page)).to_have_text("Step 40 of 40")
    slider.press("ArrowLeft")
    expect(where(page)).to_have_text("Step 39 of 40")
    expect(button(page, "Play")).to_be_visible()
    slider.click()
    expect(where(page)).to_have_text("Step 20 of 40")
    expect(slider).to_have_value("20")


def test_the_end_says_the_outcome_in_words(open_page: Open) -> None:
    """At the last step the outcome stands in the page and in the live region."""
    page = open_page("#tile=block-32-hides-it,in-order,0")
    button(page, "End").click()
    for place in (diagram_of(page).locator(".told"), heard(page)):
        expect(place).to_contain_text("All 4 results drawn are right.")
        expect(place).to_contain_text("racecheck reports as a warning")


def test_play_runs_to_the_end_and_pause_stops_it(open_page: Open) -> None:
    """Play goes on by itself at the chosen speed, Pause stops it, and the end stops it too."""
    page = open_page("#tile=block-32-hides-it,in-order,0")
    stop_the_clock(page)
    diagram_of(page).get_by_label("Speed").select_option("4")
    button(page, "Play").click()
    page.clock.run_for(300)
    expect(where(page)).to_have_text("Step 1 of 5")
    button(page, "Pause").click()
    page.clock.run_for(5000)
    expect(where(page)).to_have_text("Step 1 of 5")
    button(page, "Play").click()
    page.clock.run_for(5000)
    expect(where(page)).to_have_text("Step 5 of 5")
    expect(button(page, "Play")).to_be_visible()


def test_a_slower_speed_waits_longer(open_page: Open) -> None:
    """At half speed a step takes two seconds."""
    page = open_page()
    stop_the_clock(page)
    diagram_of(page).get_by_label("Speed").select_option("0.5")
    button(page, "Play").click()
    page.clock.run_for(1900)
    expect(where(page)).to_have_text("Step 0 of 40")
    page.clock.run_for(200)
    expect(where(page)).to_have_text("Step 1 of 40")


# ── choosing ─────────────────────────────────────────────────────────────────────────────────


def test_putting_the_barrier_back_removes_every_hazard(open_page: Open) -> None:
    """The box beside the first barrier puts it back, keeps the focus, and the end is clean."""
    page = open_page()
    box = diagram_of(page).get_by_role("checkbox").nth(1)
    box.check()
    expect(diagram_of(page).locator(":focus")).to_have_attribute("data-keep", "barrier-0")
    button(page, "End").click()
    expect(diagram_of(page).locator(".tally")).to_have_text("!0 hazards\u27170 wrong values")
    expect(diagram_of(page).locator(".told")).to_contain_text("whoever moves first")


def test_arms_inside_a_warp_hang(open_page: Open) -> None:
    """The variant that splits a warp ends with a launch that never returns."""
    page = open_page()
    diagram_of(page).get_by_label("Preset").select_option("divergent-arms")
    diagram_of(page).get_by_label("Variant").select_option("inside-a-warp")
    button(page, "End").click()
    expect(heard(page)).to_contain_text("The launch never returns.")
    expect(diagram_of(page).locator(".lane.waiting")).to_have_count(32)


def test_a_seed_belongs_to_the_random_policy_only(open_page: Open) -> None:
    """The seed shows with the random policy, and changes the order."""
    page = open_page()
    seed = diagram_of(page).get_by_label("Seed")
    expect(seed).to_be_hidden()
    diagram_of(page).get_by_label("Who moves next").select_option("random")
    expect(seed).to_be_visible()
    button(page, "Step").click()
    first = heard(page).text_content()
    seed.fill("5")
    seed.press("Tab")
    button(page, "Step").click()
    expect(heard(page)).not_to_have_text(first or "")


def test_a_pressed_warp_moves_and_takes_over_by_hand(open_page: Open) -> None:
    """Pressing warp 7 moves it at once; the policy becomes by hand, and the steps so far stay."""
    page = open_page()
    button(page, "Step").click()
    button(page, "Move warp 7").click()
    expect(heard(page)).to_have_text("Step 2. Warp 7 loads from global memory.")
    expect(diagram_of(page).get_by_label("Who moves next")).to_have_value("by-hand")
    button(page, "Back").click()
    button(page, "Move warp 0").click()
    expect(heard(page)).to_have_text("Step 2. Warp 0 writes cells 0 to 3.")


def test_by_hand_one_lane_moves_alone(open_page: Open) -> None:
    """With independent scheduling a press may move a single lane."""
    page = open_page("#tile=block-32-hides-it,by-hand,0")
    diagram_of(page).get_by_label("A press moves").select_option("2")
    for _ in range(3):
        button(page, "Move warp 0").click()
    expect(heard(page)).to_contain_text("Lane 2 of warp 0 reads cell 1.")
    diagram_of(page).get_by_label("Independent thread scheduling").uncheck()
    expect(diagram_of(page).get_by_label("A press moves")).to_be_hidden()


def test_a_warp_that_cannot_move_says_so(open_page: Open) -> None:
    """A press on a waiting warp changes nothing and is answered in the live region."""
    page = open_page("#tile=no-barrier,in-order,4")
    waiting = button(page, "Move warp 0 (it cannot move now)")
    expect(waiting).to_have_attribute("aria-disabled", "true")
    waiting.click(force=True)
    expect(heard(page)).to_have_text("Warp 0 cannot move: it waits, or it is done.")
    expect(where(page)).to_have_text("Step 4 of 40")


# ── links ────────────────────────────────────────────────────────────────────────────────────


def test_a_link_opens_preset_policy_and_step(open_page: Open) -> None:
    """The address alone brings back the view, options included."""
    page = open_page("#tile=no-barrier,random,7,variant=two-tiles,barriers=10,lockstep,seed=9")
    expect(where(page)).to_have_text("Step 7 of 80")
    expect(diagram_of(page).get_by_label("Seed")).to_have_value("9")
    expect(diagram_of(page).get_by_label("Independent thread")).not_to_be_checked()


def test_the_offered_link_brings_back_a_view_made_by_hand(open_page: Open) -> None:
    """The link of a view by hand holds its picks; opened anew it shows the same sentence."""
    page = open_page("#tile=block-32-hides-it,by-hand,0")
    button(page, "Move warp 0").click()
    button(page, "Move warp 0").click()
    link = diagram_of(page).get_by_role("link", name="Link to this step").get_attribute("href")
    assert link == "#tile=block-32-hides-it,by-hand,2,picks=0x2"
    again = open_page(link)
    expect(diagram_of(again).locator(".story")).to_contain_text("Warp 0 writes cells 0 to 3.")


def test_a_changed_address_changes_the_view(open_page: Open) -> None:
    """Following a link within the page shows its view without loading anything."""
    page = open_page()
    page.evaluate("location.hash = '#tile=early-return,in-order,18'")
    expect(where(page)).to_have_text("Step 18 of 26")


@pytest.mark.parametrize("address", ["#tile=", "#tile=constructor,__proto__,-3", "#tile=,,1e9,x=y"])
def test_a_damaged_link_shows_the_first_view(open_page: Open, address: str) -> None:
    """An address that names nothing known is no error."""
    expect(where(open_page(address))).to_have_text("Step 0 of 40")


def test_attributes_choose_what_is_offered(open_page: Open) -> None:
    """`presets` limits the choice, `preset`, `policy` and `step` open a view."""
    tag = (
        '<tile-lifecycle presets="early-return block-32-hides-it nonsense" policy=reversed '
        "preset=block-32-hides-it step=2></tile-lifecycle>"
    )
    page = open_page(tag=tag)
    expect(where(page)).to_have_text("Step 2 of 5")
    expect(diagram_of(page).get_by_label("Preset").locator("option")).to_have_count(2)


def test_a_link_moves_only_the_diagram_that_offers_its_preset(open_page: Open) -> None:
    """Of two diagrams on a page the first that offers the preset answers the address."""
    one, two = (f'<tile-lifecycle presets="{p}"></tile-lifecycle>' for p in ("early-return", ""))
    page = open_page("#tile=no-barrier,in-order,3", tag=one + two)
    expect(where(page).nth(0)).to_have_text("Step 0 of 26")
    expect(where(page).nth(1)).to_have_text("Step 3 of 40")


# ── keyboard, touch, motion, reading aloud ───────────────────────────────────────────────────


def test_arrow_keys_step_where_no_control_needs_them(open_page: Open) -> None:
    """Arrows, Home and End move through the steps from any button, and not from a choice."""
    page = open_page()
    button(page, "Play").focus()
    for key, step in (("ArrowRight", 1), ("End", 40), ("ArrowLeft", 39), ("Home", 0)):
        page.keyboard.press(key)
        expect(where(page)).to_have_text(f"Step {step} of 40")
    diagram_of(page).get_by_label("Speed").focus()
    page.keyboard.press("ArrowRight")
    expect(where(page)).to_have_text("Step 0 of 40")


def test_tab_reaches_every_control_in_the_order_of_the_page(open_page: Open) -> None:
    """The focus goes top to bottom through all controls, and out of the diagram again."""
    page = open_page()
    everything = diagram_of(page).locator(INTERACTIVE)
    expected = [text for text in everything.evaluate_all(VISIBLE_TAGS) if text]
    page.keyboard.press("Tab")
    seen = []
    while focused := page.evaluate(FOCUSED):
        seen.append(focused)
        page.keyboard.press("Tab")
    assert seen == expected


VISIBLE_TAGS = "all => all.map(e => e.checkVisibility() ? e.tagName + e.className : '')"
FOCUSED = """() => {
  const inside = document.activeElement?.shadowRoot?.activeElement;
  return inside ? inside.tagName + inside.className : '';
}"""


def test_a_touch_moves_a_warp_and_targets_are_large(open_page: Open) -> None:
    """A tap works like a press, and no target is smaller than 24 by 24 (WCAG 2.5.8)."""
    page = open_page(width=375, has_touch=True, is_mobile=True)
    button(page, "Step").tap()
    expect(where(page)).to_have_text("Step 1 of 40")
    button(page, "Move warp 3").tap()
    expect(heard(page)).to_contain_text("Warp 3 loads")
    for box in diagram_of(page).locator("button, select, summary").all():
        size = box.bounding_box()
        assert size is None or (size["width"] >= 24 and size["height"] >= 24), box.inner_text()


def test_nothing_glides_for_readers_who_asked_for_less_motion(open_page: Open) -> None:
    """With reduced motion the lanes jump; without, they glide."""
    seconds = "e => parseFloat(getComputedStyle(e).transitionDuration)"
    still = open_page(reduced_motion="reduce")
    assert diagram_of(still).locator(".lane").first.evaluate(seconds) == 0
    moving = open_page(reduced_motion="no-preference")
    assert diagram_of(moving).locator(".lane").first.evaluate(seconds) > 0


def test_while_playing_only_what_matters_is_said(open_page: Open) -> None:
    """Plain steps stay silent while playing; a hazard and the end are said."""
    page = open_page("#tile=block-32-hides-it,in-order,0")
    stop_the_clock(page)
    button(page, "Play").click()
    page.clock.run_for(2100)
    expect(where(page)).to_have_text("Step 2 of 5")
    expect(heard(page)).to_have_text("")
    page.clock.run_for(1000)
    expect(heard(page)).to_contain_text("a hazard all the same")


def test_every_control_has_a_name_and_every_list_its_words(open_page: Open) -> None:
    """The accessibility tree names each control, each warp's place and each cell's content."""
    page = open_page("#tile=no-barrier,in-order,3")
    tree = diagram_of(page).aria_snapshot()
    assert not re.search(r"- (button|combobox|checkbox|slider|spinbutton|link)\s*(:|$)", tree, re.M)
    for words in (
        'region "Interactive diagram: one block steps through a tile"',
        "cell 28 holds what an earlier block left, hazard, wrong value read",
        "cell 0 written by lane 0.0, one step ago",
        "all lanes before barrier",
    ):
        assert words in tree, words


# ── looks ────────────────────────────────────────────────────────────────────────────────────

# The contrast of each text with what is painted behind it, worst first; colours are read back from
# a canvas, so that mixed and translucent ones count as they are seen.
CONTRAST = """root => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const over = (layers) => {
    for (const layer of layers) { context.fillStyle = layer; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    const layers = [];
    for (; e; e = e.parentElement ?? e.getRootNode().host) {
      layers.unshift(getComputedStyle(e).backgroundColor);
    }
    return ['#fff', ...layers];
  };
  const found = [];
  for (const e of root.shadowRoot.querySelectorAll('*')) {
    const text = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    const seen = text && e.checkVisibility({visibilityProperty: true});
    if (!seen || e.matches('.unseen, option')) continue;
    const layers = behind(e);
    const [a, b] = [over(layers), over([...layers, getComputedStyle(e).color])].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, e.className || e.tagName, e.textContent]);
  }
  return found.sort((a, b) => a[0] - b[0]).slice(0, 3);
}"""


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize("step", [3, 40])
def test_text_has_the_contrast_of_aa(open_page: Open, scheme: str, step: int) -> None:
    """Every text stands out from what is behind it by 4.5 to 1 or more, in both themes."""
    page = open_page(f"#tile=no-barrier,in-order,{step}", scheme=scheme)
    diagram_of(page).locator("summary").click()
    worst = diagram_of(page).evaluate(CONTRAST)
    assert worst[0][0] >= 4.5, worst


HEIGHTS = """e => {
  const heights = [];
  for (; !e.atEnd; e.forward()) heights.push(e.offsetHeight);
  return [...heights, e.offsetHeight];
}"""


@pytest.mark.parametrize("width", [320, 375, 900])
@pytest.mark.parametrize("preset", ["no-barrier", "divergent-arms", "block-32-hides-it"])
def test_nothing_sticks_out_or_moves_what_is_below(
    open_page: Open, width: int, preset: str
) -> None:
    """No width scrolls sideways, and the diagram is as high at the last step as at the first."""
    page = open_page(f"#tile={preset},in-order,0", width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    heights = diagram_of(page).evaluate(HEIGHTS)
    assert len(heights) > 5
    assert len(set(heights)) == 1, heights


def test_marks_do_not_rest_on_colour(open_page: Open) -> None:
    """Hazard, wrong value, waiting and taken-out barriers differ in sign or shape, not only hue."""
    page = open_page("#tile=no-barrier,in-order,4")
    cell = diagram_of(page).locator(".cell.hazard.wrong").first
    content = "(e, part) => getComputedStyle(e, part).content"
    assert cell.evaluate(content, "::before") == '"!"'
    assert cell.evaluate(content, "::after") == '"\u2717"'
    waiting = diagram_of(page).locator(".lane.waiting").first
    assert waiting.evaluate("e => getComputedStyle(e).borderRadius") == "1px"
    removed = diagram_of(page).locator(".code .off code")
    assert "line-through" in removed.evaluate("e => getComputedStyle(e).textDecoration")


# ── without JavaScript, and in print ─────────────────────────────────────────────────────────


def test_without_javascript_the_still_picture_stands_there(open_page: Open) -> None:
    """With scripts off a reader sees the telling moments, with their words."""
    page = open_page(java_script_enabled=False)
    pictures = page.locator("tile-lifecycle svg[role=img]")
    expect(pictures).to_have_count(4)
    expect(pictures.first).to_be_visible()
    expect(pictures.first).to_have_attribute(
        "aria-label", re.compile("Warp 0 reads cells 28 to 31")
    )
    expect(page.get_by_text("16 of the 32 results drawn are wrong")).to_be_visible()


def test_with_javascript_the_still_picture_is_hidden_and_printed(open_page: Open) -> None:
    """The live diagram replaces the picture on screen; paper gets the picture."""
    page = open_page()
    picture = page.locator("tile-lifecycle svg[role=img]").first
    expect(picture).to_be_hidden()
    page.emulate_media(media="print")
    expect(picture).to_be_visible()
    expect(where(page)).to_be_hidden()
