import { askForm } from '../terminal/ask-form.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Person } from './person.ts'

/** The person at a terminal, who is asked with prompts. */
export function atTerminal(terminal: Terminal): Person {
  return { answer: (_, question) => askForm(question, terminal), leftOver: () => undefined }
}
