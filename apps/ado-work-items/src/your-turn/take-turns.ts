import { UsageError } from '@apps/front/usage'
import type { HttpAuthorizer } from '@x/transport-http/client'
import pc from 'picocolors'
import { readConfiguration } from '../configuration.ts'
import type { Options } from '../options.ts'
import type { Terminal } from '@x/cli/terminal'
import { atTerminal } from './at-terminal.ts'
import type { Person } from './person.ts'
import { readAnswers } from './written-answers.ts'
import { takeTurn } from './your-turn.ts'

/** The parts of a run that the turns use. */
export interface TurnsContext {
  readonly environment: NodeJS.ProcessEnv
  readonly terminal: Omit<Terminal, 'signal'> | undefined
  readonly stop: AbortController
  readonly print: (text: string) => void
}

/** The source of answers, and the number of turns. */
export interface Turns {
  readonly person: Person
  /** `true` if prompts frame the text that is printed between them. */
  readonly inTerminal: boolean
  /** `true` if another bug is offered after each turn. */
  readonly again: boolean
}

/** The server, and the login of the user if the server requires one. */
export interface TurnsServer {
  readonly url: string
  readonly auth?: HttpAuthorizer | undefined
}

/**
 * Selects the source of answers: a file, the terminal, or none. Without a source no question is asked, so that a run in
 * a script never waits. Throws {@link UsageError}.
 */
export function selectPerson(
  { ask, answers, once }: Options,
  { environment, terminal, stop }: TurnsContext,
): Turns | undefined {
  const isReal = readConfiguration(environment).azureDevOps !== undefined
  const isWanted = ask ?? (!once && !isReal && terminal !== undefined)
  if (isReal && (isWanted || answers !== undefined)) {
    const reason = '--ask and --answers resolve a bug, so they work with the emulator only: unset AZURE_DEVOPS_ORG'
    throw new UsageError(reason)
  }
  if (answers !== undefined) return { person: readAnswers(answers), inTerminal: false, again: false }
  if (!isWanted) return undefined
  if (terminal !== undefined) {
    return { person: atTerminal({ ...terminal, signal: stop.signal }), inTerminal: true, again: !once }
  }
  throw new UsageError('--ask needs a terminal, and there is none: give --answers with a file instead')
}

/**
 * Lets a user resolve bugs in the terminal, or takes the answers from the file. Resolves to `true` if every turn
 * succeeded. Rejects if the run is stopped.
 */
export async function takeTurns(
  turns: Turns | undefined,
  server: TurnsServer,
  { stop: { signal }, print }: TurnsContext,
): Promise<boolean> {
  if (turns === undefined) return true
  const { person, again, inTerminal } = turns
  try {
    const turn = { ...server, person, signal, print, inTerminal }
    let end = await takeTurn(turn)
    while (again && end !== 'left') end = await takeTurn(turn)
    if (again) print(`Still serving on ${pc.bold(server.url)} until Ctrl-C.`)
    return true
  } catch (error) {
    signal.throwIfAborted()
    print(pc.red(`✘  ${error instanceof Error ? error.message : String(error)}`))
    return false
  }
}
