import type { Readable, Writable } from 'node:stream'
import { log } from '@clack/prompts'
import type { Awaitable, ElicitAnswer, InputContext, InputHandlers } from '@x/client'
import { askInTerminal, confirmOpenUrl } from './ask-in-terminal.ts'
import type { Terminal } from './ask-field.ts'
import { toDisplayLine } from './display-text.ts'

/** Streams of the terminal, and how to open a browser. */
export interface TerminalOptions {
  /** Where the user's keys come from. Default: `process.stdin`. */
  readonly input?: Readable | undefined
  /** Where the prompts go. Default: `process.stdout`. */
  readonly output?: Writable | undefined
  /**
   * Opens a page after the user has agreed. Without it, servers can only ask with forms. What it throws fails the call.
   */
  readonly openPage?: ((url: string) => Awaitable<void>) | undefined
}

const noTerminalMessage =
  'terminalHandlers: the standard input is not a terminal; start the program in one, or give another input'

/**
 * Asks the person at a terminal: pass the result to `createClient` or to one call. Questions of several calls or
 * servers come one after the other, each with the name of its tool and its server (client/elicitation).
 *
 * @example
 * const client = createClient(connection, { name: 'host', version: '1.0.0', ...terminalHandlers() })
 */
export function terminalHandlers(options: TerminalOptions = {}): Pick<InputHandlers, 'elicit' | 'openUrl'> {
  const { input = process.stdin, output = process.stdout, openPage } = options
  const requireTerminal = (): void => {
    if (input !== process.stdin || process.stdin.isTTY) return
    throw new Error(noTerminalMessage)
  }
  let lastAnswer: Promise<unknown> = Promise.resolve()

  /** One question at a time: two prompts at once would both receive every key. */
  const enqueueQuestion = (
    context: InputContext,
    showQuestion: (terminal: Terminal) => Promise<ElicitAnswer>,
  ): Promise<ElicitAnswer> => {
    const previousAnswer = lastAnswer
    const askInTurn = async (): Promise<ElicitAnswer> => {
      await previousAnswer
      const { signal } = context
      signal.throwIfAborted()
      requireTerminal()
      const asker = nameAsker(context)
      if (asker !== '') log.info(toDisplayLine(`${asker} asks`), { output })
      return showQuestion({ input, output, signal })
    }
    const answer = askInTurn()
    lastAnswer = answer.catch(() => undefined)
    return answer
  }

  return {
    elicit: (question, context) => enqueueQuestion(context, (terminal) => askInTerminal(question, terminal)),
    ...(openPage && {
      openUrl: (question, context) =>
        enqueueQuestion(context, async (terminal) => {
          const answer = await confirmOpenUrl(question, terminal)
          if (answer.action === 'accept') await openPage(question.url)
          return answer
        }),
    }),
  }
}

/** Behind a gateway, `server` names the gateway, and `target` begins with the name of the server that asks. */
function nameAsker({ target, server }: InputContext): string {
  return [target, server].filter((name) => name !== undefined).join(' of ')
}
