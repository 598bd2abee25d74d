import type { Host } from '../session.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'

/** Every host of the run, in the order of the table. */
export const hosts: readonly Host[] = [claudeCode, codex]
