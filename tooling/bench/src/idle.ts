import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ServerAnswer, ServerQuestion } from './http/answer-questions.ts'
import { startPinned } from './pinned-process.ts'

/** The largest wanted heap of a client after one call, in kilobytes. */
const wantedKilobytes = 15

const kinds = ['client over HTTP', 'client alone', 'socket of undici'] as const

/**
 * Measures the heap that a client uses after one call: over HTTP, over a function, and the socket of undici alone.
 *
 * Method: a separate process opens 50 of one kind to warm up, and then 300 more. The heap is read before and after the
 * 300, each time after six full collections. Not measured: resident memory, which depends on the pages of the heap.
 */
export async function run(): Promise<void> {
  const server = await startPinned<ServerQuestion, ServerAnswer>('client/echo-server.js', 0)
  try {
    const { url = '' } = await server.ask({ ask: 'url' })
    const program = fileURLToPath(new URL('./idle/program.js', import.meta.url))
    for (const kind of kinds) {
      const node = ['--expose-gc', '--conditions=dist', program, url, kind]
      const { stdout } = await promisify(execFile)(process.execPath, node)
      const limit = kind === 'client over HTTP' ? `  wanted <= ${wantedKilobytes}` : ''
      process.stdout.write(`${kind.padEnd(20)} ${Number(stdout).toFixed(1).padStart(6)} KB of heap each${limit}\n`)
    }
  } finally {
    await server.stop()
  }
}
