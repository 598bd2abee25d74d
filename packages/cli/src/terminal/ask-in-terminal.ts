import { isCancel, log, select } from '@clack/prompts'
import type { ElicitRequestFormParams, ElicitRequestURLParams } from '@x/schema'
import { type FormDescription, readForm } from '@x/client/forms'
import type { ElicitAnswer } from '@x/client'
import { askField, abandonedForm, type Terminal } from './ask-field.ts'
import { toDisplayText } from './display-text.ts'

const declineOptions = [
  { value: 'decline', label: 'Decline: I do not want to answer this' },
  { value: 'cancel', label: 'Cancel: not now' },
] as const

/**
 * Shows a form as prompts, one for each field, and resolves with the user's answer (client/elicitation, response
 * actions). After Esc or Ctrl-C the user chooses to return to the form, to decline or to cancel. Rejects with the
 * reason of the signal if it aborts.
 */
export async function askInTerminal(question: ElicitRequestFormParams, terminal: Terminal): Promise<ElicitAnswer> {
  terminal.signal.throwIfAborted()
  log.step(toDisplayText(question.message), { output: terminal.output })
  const form = readForm(question.requestedSchema)
  for (;;) {
    const content = await askFields(form, terminal)
    if (content !== abandonedForm) return { action: 'accept', content }
    const options = [{ value: 'back', label: 'Go back to the question' }, ...declineOptions]
    const option = await chooseOption('Leave this question?', options, terminal)
    if (option === 'decline' || option === 'cancel') return { action: option }
  }
}

/**
 * Shows the whole URL of a page, with the host on a separate line, and asks whether to open it (client/elicitation,
 * safe URL handling). Rejects with the reason of the signal if it aborts.
 */
export async function confirmOpenUrl(question: ElicitRequestURLParams, terminal: Terminal): Promise<ElicitAnswer> {
  const { output, signal } = terminal
  signal.throwIfAborted()
  log.step(toDisplayText(question.message), { output })
  // No invisible characters are in it, because the client rejects such URLs.
  log.message(question.url, { output })
  const { host } = new URL(question.url)
  const options = [{ value: 'accept', label: `Open the page of ${host}` }, ...declineOptions]
  const action = await chooseOption(`Open this page of ${host}?`, options, terminal)
  return { action: action === 'accept' || action === 'decline' ? action : 'cancel' }
}

/** Esc and Ctrl-C choose "cancel". */
async function chooseOption(
  message: string,
  offeredOptions: readonly { readonly value: string; readonly label: string }[],
  terminal: Terminal,
): Promise<string> {
  const { input, output, signal } = terminal
  signal.throwIfAborted()
  const options = offeredOptions.map((option) => ({ ...option }))
  const option = await select({ message, options, input, output, signal })
  signal.throwIfAborted()
  return isCancel(option) ? 'cancel' : option
}

async function askFields(
  { fields }: FormDescription,
  terminal: Terminal,
): Promise<NonNullable<ElicitAnswer['content']> | typeof abandonedForm> {
  const filledFields: [string, string | number | boolean | readonly string[] | undefined][] = []
  for (const field of fields) {
    const value = await askField(field, terminal)
    if (value === abandonedForm) return abandonedForm
    filledFields.push([field.name, value])
  }
  // `fromEntries` defines members, so that a field with the name `__proto__` stays a field.
  return Object.fromEntries(filledFields)
}
