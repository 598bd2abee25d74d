import { checkArgument, platformRuntime, settlesWithin } from '@x/core'
import type { CallToolResult, JsonObject } from '@x/schema'
import { answerApp } from './answer-app.ts'
import { type AppConnection, connectApp } from './app-connection.ts'
import type { AppFrame, HostWindow } from './frame.ts'
import { type HostedPage, pageUriOf, parsePage } from './page.ts'
import { type ServerOfApp, serverOfApp } from './server-of-app.ts'
import type { ShowAppOptions } from './show-app-options.ts'

/** A page in a frame. */
export interface ShownApp {
  /** Notifies the page of what changed around it, such as `{ theme: 'dark' }`, as soon as the page is ready. */
  updateContext(changes: JsonObject): void
  /**
   * Asks the page to finish, waits for it for at most a second, and removes the frame. Calls of the page that still run
   * are cancelled.
   */
  close(): Promise<void>
  /** Resolves when the frame is removed: by `close`, by the page, or because the page left its document. */
  readonly closed: Promise<void>
}

const teardownMs = 1000

/** Give the container of the frame its own limit with CSS. */
const maxHeight = 10_000

/**
 * Shows the page of a tool in a frame (extensions/apps). Give it a frame that is not in the document yet, and insert
 * the frame afterwards. The page gets the arguments and the result of the call, and can call those tools of its server
 * that are meant for pages. Rejects with a `TypeError` for a tool without a page and for a resource that is no page,
 * and with the error of the client if the page cannot be read.
 *
 * @example
 * const frame = document.createElement('iframe')
 * const result = client.callTool(tool.name, args)
 * const app = await showApp(frame, { client, host: { name: 'host', version: '1.0.0' }, tool, arguments: args, result })
 * container.append(frame)
 */
export async function showApp(frame: AppFrame, options: ShowAppOptions): Promise<ShownApp> {
  checkArgument(options, { where: 'showApp', takes: 'a frame and an object of options', needs: ['client', 'tool'] })
  const { client, tool, sandbox } = options
  const result = Promise.resolve(options.result)
  // Awaited after the page is ready. Until then, a rejection must not be unhandled.
  result.catch(() => {})
  const uri = pageUriOf(tool)
  if (uri === undefined) throw new TypeError(`The tool ${JSON.stringify(tool.name)} has no page`)
  const hostWindow = checkFrame(frame)
  const sandboxUrl = sandbox === undefined ? undefined : checkSandbox(sandbox, hostWindow)
  const page = parsePage(uri, await client.readResource(uri))
  const app = startApp(frame, options, {
    hostWindow,
    sandboxOrigin: sandboxUrl?.origin,
    page,
    result,
    server: serverOfApp(client, { tool, uri }),
  })
  if (sandboxUrl === undefined) frame.srcdoc = page.html
  else frame.src = sandboxUrl.href
  frame.setAttribute('sandbox', sandboxUrl === undefined ? 'allow-scripts' : 'allow-scripts allow-same-origin')
  return app
}

function checkFrame(frame: AppFrame): HostWindow {
  const hostWindow = frame.ownerDocument.defaultView
  if (hostWindow === null) throw new TypeError('The frame belongs to a document without a window')
  // A frame in the document has loaded an empty document, which would count as the page.
  if (frame.isConnected) throw new TypeError('The frame is in the document already; insert it after showApp')
  return hostWindow
}

function checkSandbox(sandbox: string | URL, { location }: HostWindow): URL {
  const url = new URL(sandbox, location.origin)
  if (url.origin !== location.origin) return url
  throw new TypeError(`The sandbox ${url.href} has the origin of the host; serve it at another one`)
}

function startApp(
  frame: AppFrame,
  options: ShowAppOptions,
  deps: {
    readonly hostWindow: HostWindow
    readonly sandboxOrigin: string | undefined
    readonly page: HostedPage
    readonly result: Promise<CallToolResult>
    readonly server: ServerOfApp
  },
): ShownApp {
  let resolveClosed = (): void => {}
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve
  })
  const state = { isInitialized: false, isClosed: false, loads: 0 }
  let contextChanges: JsonObject = {}
  const connection = connectApp(frame, deps, {
    answer: (method, params, signal) => {
      const context = { ...options.context, ...contextChanges }
      return answerApp({ method, params, signal }, { ...options, context }, deps.server)
    },
    receive: (method, params) => {
      if (method === 'ui/notifications/initialized' && !state.isInitialized) {
        state.isInitialized = true
        notifyContext(connection, contextChanges)
        void sendCall(connection, options, deps.result)
      } else if (method === 'ui/notifications/sandbox-proxy-ready') notifyPageReady(connection, deps.page)
      else if (method === 'ui/notifications/size-changed') resize(frame, params)
      else if (method === 'ui/notifications/request-teardown') void close()
    },
  })
  const end = (): void => {
    state.isClosed = true
    connection.close()
    frame.removeEventListener('load', onLoad)
    frame.remove()
    resolveClosed()
  }
  // A page that leaves its document would speak for the next one, which no policy of this server restricts.
  const onLoad = (): void => {
    state.loads += 1
    if (state.loads > 1) end()
  }
  frame.addEventListener('load', onLoad)
  const close = async (): Promise<void> => {
    if (state.isClosed) return await closed
    state.isClosed = true
    if (state.isInitialized)
      await settlesWithin(connection.request('ui/resource-teardown', {}), teardownMs, platformRuntime)
    end()
  }
  return {
    updateContext: (changes) => {
      contextChanges = { ...contextChanges, ...changes }
      if (state.isInitialized && !state.isClosed) notifyContext(connection, changes)
    },
    close,
    closed,
  }
}

function notifyContext(connection: AppConnection, changes: JsonObject): void {
  if (Object.keys(changes).length > 0) connection.notify('ui/notifications/host-context-changed', changes)
}

function notifyPageReady(connection: AppConnection, { html, csp }: HostedPage): void {
  const origins = Object.fromEntries(Object.entries(csp).map(([list, each]) => [list, [...(each ?? [])]]))
  connection.notify('ui/notifications/sandbox-resource-ready', { html, sandbox: 'allow-scripts', csp: origins })
}

async function sendCall(
  connection: AppConnection,
  { arguments: args }: ShowAppOptions,
  result: Promise<CallToolResult>,
): Promise<void> {
  connection.notify('ui/notifications/tool-input', { arguments: args })
  try {
    connection.notify('ui/notifications/tool-result', { ...(await result) })
  } catch {
    connection.notify('ui/notifications/tool-cancelled', { reason: 'The call was cancelled or failed' })
  }
}

function resize(frame: AppFrame, { height }: JsonObject): void {
  if (typeof height === 'number' && height >= 0) frame.style.height = `${Math.min(Math.ceil(height), maxHeight)}px`
}
