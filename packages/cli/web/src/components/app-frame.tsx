import { type AppHostClient, pageUriOf, showApp } from '@x/apps/host'
import { messageOf } from '@x/core'
import type { CallToolResult, ReadResourceResult, Tool } from '@x/schema'
import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CallView } from '../../../src/dev/events.ts'
import type { Session } from '../state/session.ts'

/** Shows the App of a call: the page of its tool, with the arguments and the result of the call. */
export function AppFrame({ session, call }: { readonly session: Session; readonly call: CallView }): VNode | null {
  const container = useRef<HTMLDivElement>(null)
  const problem = useSignal<string | undefined>(undefined)
  const tool = session.state.lists.peek()?.tools.items.find(({ name }) => name === call.target)
  const isShown = call.method === 'tools/call' && tool !== undefined && pageUriOf(tool) !== undefined
  useEffect(() => {
    if (!isShown || container.current === null) return
    return openApp(container.current, { session, call, tool }, (error) => void (problem.value = error))
  }, [call.id, isShown])
  if (!isShown) return null
  return (
    <section class="app" aria-label={`App of ${call.target}`}>
      {problem.value !== undefined && <p class="notice bad">The App cannot be shown: {problem.value}</p>}
      <div ref={container} />
    </section>
  )
}

/** Shows an App in a new frame. Returns a function that closes it. */
function openApp(
  container: HTMLElement,
  { session, call, tool }: { readonly session: Session; readonly call: CallView; readonly tool: Tool },
  onProblem: (problem: string) => void,
): () => void {
  const frame = document.createElement('iframe')
  frame.title = `App of ${tool.name}`
  // The command answers under both names of this machine, so the other one is another origin.
  const other = location.hostname === 'localhost' ? '127.0.0.1' : 'localhost'
  const shown = showApp(frame, {
    client: createAppClient(session),
    host: { name: 'mcpx dev', version: '1.0.0' },
    tool,
    arguments: call.args,
    // The command has received it as the result of a tool.
    result: call.result as CallToolResult,
    sandbox: `http://${other}:${location.port}/sandbox`,
    context: { theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light' },
    openLink: ({ href }) => {
      if (!confirm(`The App wants to open ${href}`)) return false
      window.open(href, '_blank', 'noopener')
      return true
    },
  })
  shown.then(
    () => container.replaceChildren(frame),
    (error: unknown) => onProblem(messageOf(error)),
  )
  return () => void shown.then((app) => app.close()).catch(() => {})
}

/** The calls of an App run in the command, so they appear among the calls of the page. */
function createAppClient(session: Session): AppHostClient {
  const call = async <T,>(body: object): Promise<T> => Object(await session.ask('app', body)).result
  return {
    listTools: async () => session.state.lists.peek()?.tools.items ?? [],
    callTool: (target, args = {}) => call<CallToolResult>({ kind: 'tool', target, args }),
    readResource: (target) => call<ReadResourceResult>({ kind: 'resource', target, args: {} }),
  }
}
