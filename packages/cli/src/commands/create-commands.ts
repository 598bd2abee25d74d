import type { Command } from 'commander'
import type { CommandHost } from '../command.ts'
import { bridgeCommand, callCommand, serverListCommand } from './calls.ts'
import { completionCommand } from './completion.ts'
import { devCommand } from './dev.ts'
import { doctorCommand } from './doctor.ts'
import { gatewayCommand } from './gateway.ts'
import { initCommand } from './init.ts'
import { keysCommand } from './keys.ts'
import { openApiCommand } from './openapi.ts'
import { replayCommand, stateCommand } from './state.ts'
import { tasksCommand } from './tasks.ts'

/** In the order of the help. */
export function createCommands(host: CommandHost): readonly Command[] {
  return [
    doctorCommand,
    serverListCommand,
    callCommand,
    devCommand,
    bridgeCommand,
    gatewayCommand,
    openApiCommand,
    initCommand,
    tasksCommand,
    keysCommand,
    stateCommand,
    replayCommand,
    completionCommand,
  ].map((create) => create(host))
}
