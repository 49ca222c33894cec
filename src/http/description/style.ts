/** Style sheet of the API description page: system fonts, and the reader's light or dark theme. */
export const PAGE_STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0a7; }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); font: 15px/1.5 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); font-size: 13px; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { overflow-wrap: anywhere; padding: 1px 0; }
nav h2 { font-size: 13px; margin: 1rem 0 .3rem; }
nav .title { font-weight: 600; font-size: 15px; margin: 0; }
main { padding: 1rem 2rem 6rem; max-width: 62rem; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
section { border-top: 1px solid var(--line); padding-top: .5rem; margin-top: 1.5rem; scroll-margin-top: 1rem; }
h3 code { font-size: 1rem; background: none; }
code, pre { font-family: ui-monospace, monospace; font-size: 13px; }
code { background: var(--soft); padding: 0 .2em; border-radius: 3px; }
pre { background: var(--soft); padding: .6rem .8rem; border-radius: 5px; overflow: auto; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
small { opacity: .7; }
em { color: #c50; font-style: normal; font-size: 12px; }
.method { color: var(--accent); font-size: 13px; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; } main { padding: 1rem; } }
`;
