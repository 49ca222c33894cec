/** Style sheet of the documentation: system fonts, and the reader's light or dark theme. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --bg: #fff; --text: #1c2530; --quiet: #55606d; --line: #dde2e8; --soft: #f3f6f8; --accent: #0b6b7d; --on-accent: #fff; --warn: #a33f00;
  --get: #0b6b3a; --post: #7a4200; --delete: #a1182c; --mark: #fff3bf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #12161b; --text: #dfe5ec; --quiet: #9aa6b4; --line: #2a323b; --soft: #1b2129; --accent: #5fd0e0; --on-accent: #08242a; --warn: #ffab70;
    --get: #6fdc9c; --post: #ffc078; --delete: #ff9aa8; --mark: #5c4a00;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--bg); color: var(--text); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 9; background: var(--bg); padding: .3rem .6rem; }
header { position: sticky; top: 0; z-index: 5; display: flex; gap: 1rem; align-items: center; padding: .6rem 1.25rem; background: var(--bg); border-bottom: 1px solid var(--line); }
.brand { font-weight: 650; color: var(--text); white-space: nowrap; }
.brand span { color: var(--quiet); font-weight: 400; }
.app { margin-left: auto; white-space: nowrap; }
.search { position: relative; flex: 0 1 26rem; margin-left: auto; }
.search + .app { margin-left: 0; }
.search input { width: 100%; font: inherit; font-size: 15px; padding: .35rem .7rem; color: var(--text); background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
#results { position: absolute; right: 0; left: 0; top: calc(100% + 4px); margin: 0; padding: .3rem; list-style: none; max-height: 70vh; overflow: auto; background: var(--bg); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 8px 28px #0003; }
#results a { display: block; padding: .35rem .6rem; border-radius: 5px; color: var(--text); }
#results a:hover, #results a:focus, #results [aria-selected="true"] a { background: var(--soft); text-decoration: none; }
#results small { display: block; line-height: 1.35; }
#results .none { padding: .35rem .6rem; color: var(--quiet); }
.columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
.menu { position: sticky; top: 3.4rem; align-self: start; max-height: calc(100vh - 3.4rem); overflow: auto; padding: 1rem 1rem 2rem 1.25rem; font-size: 14.5px; }
.menu > summary { display: none; }
.menu ul { list-style: none; margin: 0 0 .4rem; padding: 0; }
.menu ul ul { padding-left: .8rem; border-left: 1px solid var(--line); margin: .2rem 0 .5rem; font-size: 13.5px; }
.menu li { padding: 1px 0; overflow-wrap: anywhere; }
.menu a { color: var(--text); }
.menu a[aria-current] { color: var(--accent); font-weight: 600; }
.group { margin: .9rem 0 .15rem; font-size: 12.5px; font-weight: 600; letter-spacing: .03em; color: var(--quiet); }
main { padding: 1.2rem 2.5rem 6rem; max-width: 58rem; min-width: 0; overflow-wrap: break-word; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
main p a, main li a, main td a { text-decoration: underline; text-decoration-color: color-mix(in srgb, currentColor 40%, transparent); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
h1 { font-size: 2rem; line-height: 1.2; margin: .4rem 0 1rem; }
h1 small { font-weight: 400; font-size: 1rem; }
h2 { font-size: 1.4rem; line-height: 1.3; margin: 2.4rem 0 .7rem; }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; overflow-wrap: anywhere; }
h4 { font-size: .9rem; margin: 1rem 0 .3rem; color: var(--quiet); }
.anchor { margin-left: .35em; color: var(--quiet); opacity: 0; }
:is(h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
.lead { font-size: 1.12rem; color: var(--quiet); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em; }
code { background: var(--soft); padding: .08em .3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { position: relative; margin: .7rem 0; background: var(--soft); border: 1px solid var(--line); padding: .75rem .9rem; border-radius: 8px; overflow: auto; line-height: 1.5; font-size: 14px; }
pre code { background: none; padding: 0; font-size: inherit; overflow-wrap: normal; }
pre.command code { white-space: pre-wrap; overflow-wrap: anywhere; }
.block { position: relative; }
.copy { position: absolute; top: .45rem; right: .45rem; font: inherit; font-size: 12.5px; padding: .1rem .5rem; color: var(--quiet); background: var(--bg); border: 1px solid var(--line); border-radius: 5px; cursor: pointer; }
.copy:hover { color: var(--text); }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 15px; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); min-width: 6.5rem; }
td code { overflow-wrap: normal; }
blockquote { margin: .8rem 0; padding: .1rem 1rem; border-left: 3px solid var(--accent); color: var(--quiet); }
main img { max-width: 100%; height: auto; }
figure { margin: 1.2rem 0; }
small { color: var(--quiet); }
em { font-style: italic; }
li > em, .members em { color: var(--warn); font-style: normal; font-size: 13px; }
.cards { list-style: none; padding: 0; display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
.cards li { border: 1px solid var(--line); border-radius: 8px; padding: .7rem .9rem; }
.cards p { margin: .25rem 0 0; font-size: 14.5px; line-height: 1.45; color: var(--quiet); }
.cards a { text-decoration: none; }
.calls, .mirrors { list-style: none; padding: 0; font-size: 15px; }
.calls li, .mirrors li { padding: .15rem 0; }
.button { display: inline-block; padding: .4rem .9rem; border-radius: 6px; background: var(--accent); color: var(--on-accent); border: 1px solid var(--accent); font: inherit; font-size: 15px; cursor: pointer; }
main p .button { text-decoration: none; margin: 0 .4rem .4rem 0; }
.button.quiet { background: none; color: var(--accent); border-color: var(--line); }
section { border-top: 1px solid var(--line); padding-top: .4rem; margin-top: 1.8rem; }
.method { font-size: 12.5px; font-weight: 650; color: var(--post); }
.method.get { color: var(--get); }
.method.delete { color: var(--delete); }
.members, .kinds, .answers { list-style: none; padding: 0; margin: .3rem 0; }
.members > li { padding: .35rem 0; border-bottom: 1px solid var(--line); }
.members > li > p { margin: .1rem 0; font-size: 15px; color: var(--quiet); }
.members .name { font-weight: 600; }
.type { font-size: 14px; }
.members details { margin: .2rem 0; }
.members details > .members, .members details > .kinds { margin-left: .4rem; padding-left: .9rem; border-left: 2px solid var(--line); }
summary { cursor: pointer; font-size: 14px; color: var(--accent); }
.kinds > li { margin: .5rem 0 1rem; padding-left: .9rem; border-left: 2px solid var(--accent); }
.kind { margin: 0; }
.answers { font-size: 15px; }
.answers li { padding: .1rem 0; }
.answer pre { max-height: 24rem; }
.try { border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; margin: .8rem 0; }
.try label { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: .6rem; align-items: center; margin: .3rem 0; font-size: 14.5px; }
.try input, .try textarea { font: 14px ui-monospace, monospace; width: 100%; padding: .3rem .5rem; color: var(--text); background: var(--bg); border: 1px solid var(--line); border-radius: 5px; }
.try textarea { min-height: 8rem; }
.try .problem { color: var(--delete); }
@media (max-width: 56rem) {
  /* The copy button is above the code: beside it, it would cover the first line. */
  .block pre { padding-top: 2.4rem; }
  header { padding: .5rem 1rem; gap: .6rem; }
  .brand span, .app { display: none; }
  .search { flex: 1; }
  .columns { display: block; }
  .menu { position: static; max-height: none; padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
  .menu > summary { display: list-item; padding: .3rem 0; }
  main { padding: .8rem 1rem 4rem; }
  h1 { font-size: 1.6rem; }
  .try label { grid-template-columns: 1fr; gap: .1rem; }
}
`;
