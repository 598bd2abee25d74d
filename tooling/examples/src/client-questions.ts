import { type Client, createClient, type ElicitAnswer } from '@x/client'
import { type FormField, readForm } from '@x/client/forms'
import { terminalHandlers } from '@x/cli/terminal'
import type { ElicitRequestFormParams, Exchange } from '@x/schema'

type ShowForm = (form: ElicitRequestFormParams, from: string) => Promise<ElicitAnswer['content']>
type ConfirmUrl = (url: URL, why: string) => Promise<boolean>

// #region answer
export function createAskable(exchange: Exchange, show: { form: ShowForm; url: ConfirmUrl }): Client {
  return createClient(exchange, {
    name: 'host',
    version: '1.0.0',
    elicit: async (question, { server = 'a server' }) => {
      const content = await show.form(question, server)
      return content ? { action: 'accept', content } : { action: 'cancel' }
    },
    openUrl: async ({ url, message }) => {
      const agreed = await show.url(new URL(url), message)
      return { action: agreed ? 'accept' : 'decline' }
    },
  })
}
// #endregion

// #region manual
export async function start(exchange: Exchange, keep: (pending: string) => Promise<void>): Promise<string> {
  const client = createClient(exchange, { name: 'host', version: '1.0.0', capabilities: { elicitation: { form: {} } } })
  const round = await client.manualRounds.callTool('resolve', { id: 4522 })
  if (round.status === 'complete') return 'done at once'
  await keep(JSON.stringify(round.pendingCall))
  return `wants ${Object.keys(round.requests).join()}`
}

export async function goOn(exchange: Exchange, kept: string, content: ElicitAnswer['content']): Promise<string> {
  const client = createClient(exchange, { name: 'host', version: '1.0.0', capabilities: { elicitation: { form: {} } } })
  const round = await client.manualRounds.resume(JSON.parse(kept), { resolution: { action: 'accept', content } })
  return round.status
}
// #endregion

type ShowFields = (
  fields: readonly FormField[],
  issues: ReadonlyMap<string, string>,
) => Promise<Readonly<Record<string, unknown>>>

// #region form
export async function fillIn(question: ElicitRequestFormParams, show: ShowFields): Promise<ElicitAnswer> {
  const form = readForm(question.requestedSchema)
  let values = await show(form.fields, new Map())
  for (;;) {
    const checked = form.check(values)
    if ('content' in checked) return { action: 'accept', content: checked.content }
    values = await show(form.fields, checked.issues)
  }
}
// #endregion

// #region terminal
export function createTerminalHost(exchange: Exchange, openPage: (url: string) => void): Client {
  return createClient(exchange, { name: 'host', version: '1.0.0', ...terminalHandlers({ openPage }) })
}
// #endregion
