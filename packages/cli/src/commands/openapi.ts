import type { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'
import type { OpenApiCommandOptions } from '../openapi/list-operations.ts'

export function openApiCommand(host: CommandHost): Command {
  return createCommand<OpenApiCommandOptions>(
    host,
    {
      usage: 'openapi <file>',
      description: 'Lists the tools that an OpenAPI document gives, and the reason for each operation that gives none.',
      example: 'openapi orders.yaml --operations GET',
    },
    async () => (await import('../openapi/list-operations.ts')).runOpenApi,
  )
    .option('--operations <names>', 'only these, with commas between: methods, operationIds, or "METHOD /path"')
    .option('--serve', 'serve the tools over stdio; needs --url')
    .option('--url <url>', 'the address of the API, for --serve')
}
