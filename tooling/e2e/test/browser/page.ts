import { authErrorOf, isAuthError, oauth, pageRedirect } from '@x/auth/client'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

/** Results of the calls from the page. */
export interface PageReport {
  readonly tools: readonly string[]
  readonly progress: readonly number[]
  readonly text: string
}

/** Lists tools and calls one from inside a page, with the browser's `fetch`. */
async function callFromPage(url: string): Promise<PageReport> {
  const connection = connectHttp(url)
  try {
    const client = createClient(connection, { name: 'page', version: '1.0.0' })
    const tools = await client.listTools()
    const progress: number[] = []
    const options = { onProgress: (step: { progress: number }) => void progress.push(step.progress) }
    const { content } = await client.callTool('count', { to: 3, region: 'Zürich' }, options)
    const [first] = content
    return { tools: tools.map(({ name }) => name), progress, text: first?.type === 'text' ? first.text : '' }
  } finally {
    await connection.close()
  }
}

/** Cancels a call after its first progress and returns the error of the call. */
async function cancelFromPage(url: string): Promise<string> {
  const connection = connectHttp(url)
  try {
    const client = createClient(connection, { name: 'page', version: '1.0.0' })
    const controller = new AbortController()
    const options = { signal: controller.signal, onProgress: () => controller.abort(new Error('the user left')) }
    return await client.callTool('wait', {}, options).then(() => 'answered', String)
  } finally {
    await connection.close()
  }
}

/** Begins a login and returns the URL of its page, or the message of the error. */
async function logInFromPage(url: string, uri: string): Promise<string> {
  const auth = oauth({ client: { name: 'Page' }, redirect: pageRedirect({ uri }) })
  const error: unknown = await auth.login(url).then(() => 'logged in', authErrorOf)
  return isAuthError(error) ? (error.url?.href ?? error.message) : String(error)
}

Object.assign(globalThis, { callFromPage, cancelFromPage, logInFromPage })
