import { openBrowser } from '@x/auth/node'
import { type CallOptions, type InputHandlers, isClientError } from '@x/client'
import { errorCodes, isJsonObject } from '@x/schema'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { CommandContext } from '../command.ts'
import { readAnswersOption, readJsonOption } from '../json-option.ts'
import { printToolResult } from '../output/tool-result.ts'
import { adviseAnswers, answerHandlers } from './answers.ts'
import { type TargetOptions, withClient } from './connect-target.ts'
import { ProgressLine } from './progress-line.ts'

export interface CallCommandOptions extends TargetOptions {
  readonly args: string
  readonly answers?: string
}

/** Calls a tool, and follows it if it becomes a task. The exit code is 5 if the tool returns an error. */
export async function runCallCommand(
  { io, printer }: CommandContext,
  options: CallCommandOptions,
  [target = '', name = '']: readonly string[],
): Promise<ExitCode> {
  const { args, timeout, answers } = options
  const parsedArgs = readJsonOption('args', args)
  const progressLine = new ProgressLine(io)
  const asked = await inputHandlers(io, progressLine)
  const handlers = answers === undefined ? asked : answerHandlers(await readAnswersOption(answers), asked)
  return withClient(target, { options, io, client: handlers, hasTimeout: true }, async (client) => {
    const callOptions: CallOptions = {
      signal: io.signal,
      timeoutMs: timeout,
      onProgress: (progress) => progressLine.show(progress),
    }
    const result = await client
      .callTool(name, parsedArgs, callOptions)
      .catch((error: unknown) => {
        throw handlers.elicit === undefined ? withAnswersAdvice(error) : error
      })
      .finally(() => progressLine.clear())
    if (printer.isJson) printer.json(result)
    else printToolResult(printer, result)
    return result.isError === true ? 5 : 0
  })
}

function withAnswersAdvice(error: unknown): unknown {
  if (!isClientError(error) || error.rpc?.code !== errorCodes.missingRequiredClientCapability) return error
  const questions = isJsonObject(error.rpc.data) ? error.rpc.data['questions'] : undefined
  const advice = adviseAnswers(isJsonObject(questions) ? questions : {})
  return new CliError('failure', [error.message, advice].join('\n'), { cause: error })
}

/** The person at the terminal answers questions. Without a terminal, the client declares no such capability. */
async function inputHandlers(io: CliIo, progressLine: ProgressLine): Promise<InputHandlers> {
  if (io.input.isTTY !== true) return {}
  const { terminalHandlers } = await import('../terminal/terminal-handlers.ts')
  // The standard output is the result alone.
  const { elicit, openUrl } = terminalHandlers({
    input: io.input,
    output: io.errorOutput,
    openPage: (url) => openBrowser(new URL(url)),
  })
  return {
    elicit: (question, context) => {
      progressLine.clear()
      return elicit?.(question, context) ?? { action: 'cancel' }
    },
    openUrl: (question, context) => {
      progressLine.clear()
      return openUrl?.(question, context) ?? { action: 'cancel' }
    },
  }
}
