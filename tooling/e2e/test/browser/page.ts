import { authErrorOf, isAuthError, oauth, pageRedirect, type WebStorage, webStorageStore } from '@x/auth/client'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

declare const location: { readonly href: string; assign(url: string): void }
declare const sessionStorage: WebStorage

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

/**
 * Calls a tool that needs a login, as the guide describes it for pages, and returns its text or the message of the
 * error. The first call leaves the page, and the one after its return finishes the login.
 */
async function callWithLogin(url: string): Promise<string> {
  const page = new URL(location.href)
  const auth = oauth({
    client: { name: 'Page' },
    redirect: pageRedirect({ uri: page.origin, assign: ({ href }) => location.assign(href) }),
    store: webStorageStore(sessionStorage),
  })
  const connection = connectHttp(url, { auth })
  try {
    if (page.searchParams.has('state')) await auth.finishLogin(page)
    const client = createClient(connection, { name: 'page', version: '1.0.0' })
    const { content } = await client.callTool('count', { to: 1, region: 'Zürich' })
    return JSON.stringify(content)
  } catch (error) {
    const reason = authErrorOf(error)
    return isAuthError(reason) ? reason.message : String(error)
  } finally {
    await connection.close()
  }
}

Object.assign(globalThis, { callFromPage, cancelFromPage, callWithLogin })
