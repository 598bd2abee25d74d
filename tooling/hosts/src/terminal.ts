import { execFile, spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A program in a terminal (tmux), with a user who reads the screen and presses keys. */
export interface Terminal {
  /** Types a text, without the Enter key. */
  type(text: string): Promise<void>
  /** Presses keys by their names in tmux, such as `Enter` or `Escape`. */
  press(...keys: readonly string[]): Promise<void>
  /** Presses a key until the mark of the selection is before a text, and then Enter. */
  choose(text: string, key?: string): Promise<void>
  screen(): Promise<string>
  /** Waits until the screen shows a text. Throws with the screen if it does not. */
  see(pattern: RegExp, timeoutMs?: number): Promise<string>
  close(): Promise<void>
}

/** How a program starts in a terminal. */
export interface TerminalOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What the screen shows when the program has started or, if it ends by itself, has done its work. */
  readonly ready: RegExp
}

let count = 0
const open = new Set<string>()
process.on('exit', () => {
  for (const socket of open) spawnSync('tmux', ['-L', socket, 'kill-server'])
})
const columns = '180'
const lines = '60'

/** Starts a program in a terminal of its own. Closes the terminal if the program does not start. */
export async function openTerminal({ command, cwd, env, ready }: TerminalOptions): Promise<Terminal> {
  count += 1
  const socket = `hosts-${process.pid}-${count}`
  open.add(socket)
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, ...args])).stdout
  const assigned = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const program = ['env', '-i', 'TERM=xterm-256color', 'LANG=C.UTF-8', ...assigned, ...command]
  const stay = ['-f', '/dev/null', 'start-server', ';', 'set-option', '-g', 'remain-on-exit', 'on', ';']
  await tmux(...stay, 'new-session', '-d', '-s', 'host', '-x', columns, '-y', lines, '-c', cwd, ...program)
  const screen = async (): Promise<string> => (await tmux('capture-pane', '-p', '-t', 'host')).trimEnd()
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) {
      await tmux('send-keys', '-t', 'host', key)
      // A person does not press two keys at once, and hosts take that for pasted text.
      await delay(keyMs)
    }
  }
  const terminal: Terminal = {
    screen,
    press,
    async type(text) {
      await tmux('send-keys', '-t', 'host', '-l', text)
      await delay(keyMs)
    },
    async choose(text, key = 'Right') {
      for (let presses = 0; presses < maxChoices; presses += 1) {
        const shown = await screen()
        if (/[❯›>●]/.test(before(shown, text))) break
        await press(key)
        // A busy host draws the next choice later.
        await waitFor(async () => (await screen()) !== shown || undefined, {
          timeoutMs: 2000,
          describe: () => '',
        }).catch(() => {})
      }
      await press('Enter')
    },
    see: (pattern, timeoutMs = 10_000) =>
      waitFor(
        async () => {
          const shown = await screen()
          return pattern.test(shown) ? shown : undefined
        },
        { timeoutMs, describe: async () => `no ${String(pattern)} on the screen:\n${await screen()}` },
      ),
    async close() {
      open.delete(socket)
      const leader = Number(await tmux('display-message', '-p', '-t', 'host', '#{pane_pid}').catch(() => '0'))
      await tmux('kill-server').catch(() => {})
      // Gemini CLI runs on when its terminal has gone.
      killGroup(leader)
    },
  }
  await terminal.see(ready, startMs).catch(async (error: unknown) => {
    await terminal.close()
    throw error
  })
  return terminal
}

/** How long a host may take to show its first screen. */
export const startMs = 60_000
const keyMs = 200

/** Kills a process, and those that it has started. */
export function killGroup(leader: number): void {
  if (leader === 0) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
const maxChoices = 5

/** Returns the two characters before the last occurrence of a text. */
function before(screen: string, text: string): string {
  const at = screen.lastIndexOf(text)
  return at === -1 ? '' : screen.slice(Math.max(0, at - 2), at)
}
const pollMs = 100

/** A condition that did not become true, with what was there instead. */
export class TimedOut extends Error {}

/** Waits until a function returns a value. */
export async function waitFor<T>(
  look: () => Promise<T | undefined> | T | undefined,
  { timeoutMs, describe }: { readonly timeoutMs: number; readonly describe: () => Promise<string> | string },
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new TimedOut(await describe())
    await delay(pollMs)
  }
}
