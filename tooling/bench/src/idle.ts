import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ServerAnswer, ServerQuestion } from './http/answer-questions.ts'
import { startPinned } from './pinned-process.ts'

/** The kilobytes of heap that a client may hold when it has made one call. */
const wantedKilobytes = 15

const kinds = ['client over HTTP', 'client alone', 'socket of undici'] as const

/**
 * Measures the heap that a client holds after one call: over HTTP, over a function, and the socket of undici by itself.
 *
 * Method: 300 of each are made in a process of their own, behind 50 others, and the heap is read before and after, each
 * time after six full collections. Not measured: resident memory, which follows the heap's pages.
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
