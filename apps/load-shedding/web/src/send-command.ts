import type { Command } from '../../src/control/command.ts'

/** Sends a command, and announces its description to screen readers, or that it failed. */
export type SendCommand = (command: Command, description: string) => Promise<void>
