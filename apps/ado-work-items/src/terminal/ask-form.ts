import { isCancel, log, select } from '@clack/prompts'
import type { ElicitAnswer } from '@x/client'
import type { ElicitRequestFormParams } from '@x/schema'
import { askField, left } from './ask-field.ts'
import { shownText } from './shown-text.ts'
import type { Terminal } from './terminal.ts'

/** The ways in which a person can dismiss a question. */
const waysOut = [
  { value: 'back', label: 'Go back to the question' },
  { value: 'decline', label: 'Decline: I do not want to answer this' },
  { value: 'cancel', label: 'Cancel: not now' },
] as const

/**
 * Shows a form as prompts, one for each field, and gives what the person did (client/elicitation, response actions).
 * Esc and Ctrl-C lead to the choice between going back, declining and cancelling. Rejects with the signal's reason.
 */
export async function askForm(question: ElicitRequestFormParams, terminal: Terminal): Promise<ElicitAnswer> {
  const { input, output, signal } = terminal
  signal.throwIfAborted()
  log.step(shownText(question.message), { output })
  for (;;) {
    const content = await fillIn(question, terminal)
    if (content !== left) return { action: 'accept', content }
    signal.throwIfAborted()
    const options = waysOut.map((way) => ({ ...way }))
    const way = await select({ message: 'Leave this question?', options, input, output, signal })
    signal.throwIfAborted()
    if (isCancel(way) || way === 'cancel') return { action: 'cancel' }
    if (way === 'decline') return { action: 'decline' }
  }
}

async function fillIn(
  { requestedSchema: { properties, required = [] } }: ElicitRequestFormParams,
  terminal: Terminal,
): Promise<NonNullable<ElicitAnswer['content']> | typeof left> {
  const filled: [string, string | number | boolean | readonly string[] | undefined][] = []
  for (const [name, field] of Object.entries(properties)) {
    const value = await askField({ name, field, isRequired: required.includes(name) }, terminal)
    if (value === left) return left
    filled.push([name, value])
  }
  // fromEntries defines members, so that a field such as __proto__ stays a field.
  return Object.fromEntries(filled)
}
