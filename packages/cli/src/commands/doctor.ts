import type { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'
import { tokenOption } from './calls.ts'
import type { DoctorCommandOptions } from '../doctor/doctor.ts'

export function doctorCommand(host: CommandHost): Command {
  return createCommand<DoctorCommandOptions>(
    host,
    {
      usage: 'doctor <target>',
      description:
        'Examines the server at a URL, with the proxies in front of it: revision, security, limits, streams, ' +
        'authorization and shared keys. Takes up to 25 seconds, because it waits for a heartbeat. After --, or in ' +
        'quotes, examines the server that a command starts. With --publish, examines the folder of a package.',
      example: 'doctor https://example.com/mcp --tool resolve --args \'{"id":17}\'',
    },
    async () => (await import('../doctor/doctor.ts')).examineServer,
  )
    .addOption(tokenOption())
    .option('--tool <name>', 'a tool that asks a question, to check that instances share their keys')
    .option('--args <json>', 'the arguments of the tool', '{}')
    .option('--verbose', 'write what a server that is a command writes to its standard error')
    .option('--publish', 'check that the manifests in a folder agree, and that the package starts by npx')
}
