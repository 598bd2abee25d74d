/**
 * Answers elicitations at a terminal, with `@clack/prompts`.
 *
 * @module @x/cli/terminal
 */

export { askInTerminal } from './terminal/ask-in-terminal.ts'
export { toDisplayText } from './terminal/display-text.ts'
export type { Terminal } from './terminal/ask-field.ts'
export { type TerminalOptions, terminalHandlers } from './terminal/terminal-handlers.ts'
