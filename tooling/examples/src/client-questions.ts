import { type Client, createClient, type ElicitAnswer } from '@x/client'
import { type FormField, readForm } from '@x/client/forms'
import { terminalHandlers } from '@x/cli/terminal'
import type { ClientTarget } from '@x/exchange'
import type { ElicitRequestFormParams } from '@x/schema'

/** The dialogs of your program. */
export interface Dialogs {
  /** Shows a form. Resolves with its content, or with undefined if the user cancels. */
  form(form: ElicitRequestFormParams, server: string): Promise<ElicitAnswer['content']>
  /** Shows a URL. If the user agrees, opens it in a browser and resolves with true. */
  url(url: URL, message: string, server: string): Promise<boolean>
}

export const createAskable = (target: ClientTarget, dialogs: Dialogs): Client =>
  createClient(target, {
    name: 'host',
    version: '1.0.0',
    elicit: async (question, { server = 'A server' }) => {
      const content = await dialogs.form(question, server)
      return content ? { action: 'accept', content } : { action: 'cancel' }
    },
    openUrl: async ({ url, message }, { server = 'A server' }) => {
      const agreed = await dialogs.url(new URL(url), message, server)
      return { action: agreed ? 'accept' : 'decline' }
    },
  })

// #region manual
const options = { name: 'host', version: '1.0.0', capabilities: { elicitation: { form: {} } } }

export async function startCall(target: ClientTarget, store: (call: string) => Promise<void>): Promise<string> {
  const round = await createClient(target, options).manualRounds.callTool('resolve', { id: 4522 })
  if (round.status === 'complete') return 'complete'
  await store(JSON.stringify(round.pendingCall))
  return `waits for ${Object.keys(round.requests).join()}`
}

/** The answers have the keys of `round.requests`, here `resolution`. */
export async function resumeCall(
  target: ClientTarget,
  stored: string,
  content: ElicitAnswer['content'],
): Promise<string> {
  const { manualRounds } = createClient(target, options)
  const round = await manualRounds.resume(JSON.parse(stored), { resolution: { action: 'accept', content } })
  return round.status
}
// #endregion

// #region form
/** Shows the fields of a form, with a message for each invalid one. Resolves with the entered values. */
type ShowFields = (
  fields: readonly FormField[],
  issues: ReadonlyMap<string, string>,
) => Promise<Readonly<Record<string, unknown>>>

export async function answerForm(question: ElicitRequestFormParams, show: ShowFields): Promise<ElicitAnswer> {
  const form = readForm(question.requestedSchema)
  let values = await show(form.fields, new Map())
  for (;;) {
    const checked = form.check(values)
    if ('content' in checked) return { action: 'accept', content: checked.content }
    values = await show(form.fields, checked.issues)
  }
}
// #endregion

export function createTerminalHost(target: ClientTarget, openPage: (url: string) => void): Client {
  return createClient(target, { name: 'host', version: '1.0.0', ...terminalHandlers({ openPage }) })
}
