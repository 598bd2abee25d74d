import type { Readable, Writable } from 'node:stream'
import { isJsonObject, type JsonObject } from '@x/schema'

/** One end of a connection that writes any bytes and reads JSON, for messages that no conforming peer sends. */
export interface RawPeer {
  /** Each object becomes one line of JSON. Strings and bytes are written unchanged. */
  say(...messages: readonly (string | Uint8Array | object)[]): void
  /** Resolves with the next line, parsed as an object. */
  next(): Promise<JsonObject>
  /** Lines that have arrived and that the test has not read. */
  listUnread(): readonly string[]
  end(): void
  /** Resolves with the unread lines when the other end has ended. */
  readonly ended: Promise<readonly string[]>
}

export function rawPeer({ input, output }: { readonly input: Readable; readonly output: Writable }): RawPeer {
  const lines: string[] = []
  const asking: ((line: string) => void)[] = []
  let rest = ''
  input.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      const ask = asking.shift()
      if (ask) ask(line)
      else lines.push(line)
    }
  })
  const nextLine = (): Promise<string> =>
    new Promise((resolve) => {
      const line = lines.shift()
      if (line === undefined) asking.push(resolve)
      else resolve(line)
    })
  return {
    say: (...messages) => {
      for (const message of messages) {
        if (typeof message === 'string' || message instanceof Uint8Array) output.write(message)
        else output.write(`${JSON.stringify(message)}\n`)
      }
    },
    next: async () => objectOf(await nextLine()),
    listUnread: () => lines,
    end: () => output.end(),
    ended: new Promise((resolve) => {
      for (const event of ['end', 'close']) input.once(event, () => resolve(lines))
    }),
  }
}

function objectOf(line: string): JsonObject {
  const value: unknown = JSON.parse(line)
  if (isJsonObject(value)) return value
  throw new Error(`expected an object in a line of its own, got ${line}`)
}
