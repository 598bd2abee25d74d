import type { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'
import type { InitOptions } from '../init/create-project.ts'

export function initCommand(host: CommandHost): Command {
  return createCommand<InitOptions>(
    host,
    {
      usage: 'init <folder>',
      description:
        'Makes the folder of a new server, with a tool, its test, and the files to deploy and to publish it.',
      example: 'init my-server --http',
    },
    async () => (await import('../init/create-project.ts')).createProject,
  )
    .option('--http', 'a server over HTTP, with a Dockerfile')
    .option('--stdio', 'a server that a host starts, with the manifest of a bundle')
    .option('--worker', 'a Cloudflare Worker')
}
