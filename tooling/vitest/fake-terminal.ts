import { PassThrough, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

/** A key that a person presses, as a terminal sends it. */
export const keys = { enter: '\r', down: '\u001B[B', space: ' ', erase: '\u007F', leave: '\u0003' } as const

/** A scripted reaction: waits for the words, then presses the keys, or runs a function. */
export type Move = readonly [seen: string, then: string | (() => void)]

/** A terminal whose user follows a script. */
export interface FakeTerminal {
  readonly input: PassThrough
  readonly output: Writable
  readonly signal: AbortSignal
  readonly stop: AbortController
  /** All that was shown, without colours. */
  shown(): string
  /** The same as it was written. */
  raw(): string
  /** The moves that nothing led to. */
  left(): readonly Move[]
}

/** Opens a terminal; each move waits for what is shown after the one before. */
export function fakeTerminal(...moves: readonly Move[]): FakeTerminal {
  const input = new PassThrough()
  const stop = new AbortController()
  const waiting = [...moves]
  let [raw, all, fresh] = ['', '', '']
  const output = new Writable({
    write(chunk, _, done) {
      raw += String(chunk)
      const text = stripVTControlCharacters(String(chunk))
      all += text
      fresh += text
      const [move] = waiting
      if (move !== undefined && fresh.includes(move[0])) {
        waiting.shift()
        fresh = ''
        // One key at a time, and only once the prompt listens.
        setImmediate(() => act(input, move[1]))
      }
      done()
    },
  })
  return { input, output, signal: stop.signal, stop, shown: () => all, raw: () => raw, left: () => waiting }
}

function act(input: PassThrough, pressed: Move[1]): void {
  if (typeof pressed !== 'string') return pressed()
  for (let at = 0; at < pressed.length; ) {
    // Arrows are sequences, which must not be taken apart.
    const length = pressed.startsWith('\u001B[', at) ? 3 : String.fromCodePoint(pressed.codePointAt(at) ?? 0).length
    input.write(pressed.slice(at, at + length))
    at += length
  }
}
