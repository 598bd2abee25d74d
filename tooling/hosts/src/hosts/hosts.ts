import type { Host } from '../session.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilotCli } from './copilot-cli.ts'
import { geminiCli } from './gemini-cli.ts'
import { libraries } from './libraries.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'
import { inspectorCli, mcpc, mcporter } from './tools.ts'

/** Every host of the run, in the order of the table. */
export const hosts: readonly Host[] = [
  claudeCode,
  codex,
  copilotCli,
  geminiCli,
  opencode,
  qwenCode,
  inspectorCli,
  mcporter,
  mcpc,
  ...libraries,
]
