import { type Command, Option } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'
import type { DoctorCommandOptions } from '../doctor/doctor.ts'

/** Creates the command `doctor`. */
export function doctorCommand(host: CommandHost): Command {
  return createCommand<DoctorCommandOptions>(
    host,
    {
      usage: 'doctor <url>',
      description:
        'Examines a server over HTTP, with the proxies in front of it: revision, security, limits, streams, ' +
        'authorization and shared keys. Takes up to 25 seconds, because it waits for a heartbeat.',
      example: 'doctor https://example.com/mcp --tool resolve --args \'{"id":17}\'',
    },
    async () => (await import('../doctor/doctor.ts')).examineServer,
  )
    .addOption(new Option('--token <token>', 'the access token to send').env('MCPX_TOKEN'))
    .option('--tool <name>', 'a tool that asks a question, to check that instances share their keys')
    .option('--args <json>', 'the arguments of the tool', '{}')
}
