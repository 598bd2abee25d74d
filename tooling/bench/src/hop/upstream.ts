import type { ServerAnswer, ServerQuestion } from '../http/answer-questions.ts'
import { startPinned } from '../pinned-process.ts'

/** Starts the server behind a proxy on the core of the load, and returns its URL. It ends with this process. */
export async function startUpstream(program: string): Promise<string> {
  const upstream = await startPinned<ServerQuestion, ServerAnswer>(program, 1)
  const { url = '' } = await upstream.ask({ ask: 'url' })
  return url
}
