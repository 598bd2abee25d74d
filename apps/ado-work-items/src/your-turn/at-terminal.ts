import { askInTerminal, type Terminal } from '@x/cli/terminal'
import type { Person } from './person.ts'

/** Creates a source of answers that shows the questions as prompts in a terminal. */
export function atTerminal(terminal: Terminal): Person {
  return { answer: (_, question) => askInTerminal(question, terminal), leftOver: () => undefined }
}
