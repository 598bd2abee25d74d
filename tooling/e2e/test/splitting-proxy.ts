import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from './listen-locally.ts'

/** A proxy on a loopback port. */
export interface SplittingProxy extends AsyncDisposable {
  readonly port: number
}

/**
 * Forwards connections to a loopback port in pieces that end at any byte: within a header, a length, an event or a
 * character. The sizes are pseudo-random and equal in every run.
 */
export async function startSplittingProxy(targetPort: number): Promise<SplittingProxy> {
  const open = new Set<Socket>()
  const nextSize = sizesFrom(1)
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      void forwardInPieces(socket, other, nextSize)
    }
  })
  const port = await listenLocally(server)
  const dispose = async (): Promise<void> => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  return { port, [Symbol.asyncDispose]: dispose }
}

async function forwardInPieces(from: Socket, to: Socket, nextSize: () => number): Promise<void> {
  try {
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      // A socket without an encoding emits buffers.
      const bytes: Buffer = chunk
      for (let at = 0; at < bytes.length; ) {
        const size = nextSize()
        await write(to, bytes.subarray(at, at + size))
        at += size
      }
    }
    to.end()
  } catch {
    to.destroy()
  }
}

/** Writes one piece and waits for the next turn of the event loop, so that the reader receives the piece separately. */
function write(to: Socket, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(piece, (error) => {
      if (error) reject(error)
      else setImmediate(resolve)
    })
  })
}

/** Generates sizes from 1 to 16,384 bytes, more often small ones, with a linear congruential generator. */
function sizesFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return 1 + Math.floor(2 ** ((state / 2 ** 32) * 14))
  }
}
