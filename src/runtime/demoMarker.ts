/** The file that marks a data directory as made by a demo: its data is simulated, and the next demo may empty it. */
export const DEMO_MARKER = '.underround-demo';
