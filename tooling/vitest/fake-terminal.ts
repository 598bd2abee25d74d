import { PassThrough, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

/** The input that a terminal sends for each key. */
export const keys = { enter: '\r', down: '\u001B[B', space: ' ', erase: '\u007F', leave: '\u0003' } as const

/** A scripted reaction: waits until the text is shown, and then presses the keys or calls the function. */
export type Move = readonly [seen: string, then: string | (() => void)]

/** A terminal whose user follows a script. */
export interface FakeTerminal {
  readonly input: PassThrough
  readonly output: Writable
  readonly signal: AbortSignal
  readonly stop: AbortController
  /** Returns all text that was shown, without colours. */
  shown(): string
  /** Returns all text that was shown, with its escape sequences. */
  raw(): string
  /** Returns the moves whose text was not shown. */
  left(): readonly Move[]
}

/** Opens a terminal. Each move waits for text that is shown after the move before it. */
export function fakeTerminal(...moves: readonly Move[]): FakeTerminal {
  const input = new PassThrough()
  const stop = new AbortController()
  const waiting = [...moves]
  let [raw, all, unread] = ['', '', '']
  const output = new Writable({
    write(chunk, _, done) {
      raw += String(chunk)
      const text = stripVTControlCharacters(String(chunk))
      all += text
      unread += text
      const [move] = waiting
      if (move !== undefined && unread.includes(move[0])) {
        waiting.shift()
        unread = ''
        // The prompt reads input only after this write, and one key at a time.
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
    // An arrow key is an escape sequence, which must be written in one piece.
    const length = pressed.startsWith('\u001B[', at) ? 3 : String.fromCodePoint(pressed.codePointAt(at) ?? 0).length
    input.write(pressed.slice(at, at + length))
    at += length
  }
}
