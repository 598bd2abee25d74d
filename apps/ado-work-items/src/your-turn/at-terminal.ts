import { askInTerminal, type Terminal } from '@x/cli/terminal'
import type { Person } from './person.ts'

/** The person at a terminal, who is asked with prompts. */
export function atTerminal(terminal: Terminal): Person {
  return { answer: (_, question) => askInTerminal(question, terminal), leftOver: () => undefined }
}
