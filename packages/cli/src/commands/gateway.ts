import { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'

const configOption = ['--config <file>', 'the JSON file with the upstreams'] as const

export function gatewayCommand(host: CommandHost): Command {
  const start = createCommand<{ config: string }>(
    host,
    {
      usage: 'start',
      description: 'Puts the servers of a file behind one endpoint over HTTP.',
      example: 'gateway start --config gateway.json',
    },
    async () => (await import('../gateway/serve-gateway.ts')).startGateway,
  ).requiredOption(...configOption)
  const check = createCommand<{ config: string }>(
    host,
    {
      usage: 'check',
      description: 'Checks the file and its secrets, and connects to each upstream.',
      example: 'gateway check --config gateway.json',
    },
    async () => (await import('../gateway/check-gateway.ts')).checkGateway,
  ).requiredOption(...configOption)
  const accept = createCommand<{ pins: string }>(
    host,
    {
      usage: 'accept <upstream> <tool>',
      description: 'Accepts the changed definition of a tool that the gateway withholds.',
      example: 'gateway accept crm add --pins pins.json',
    },
    async () => (await import('../gateway/accept-tool.ts')).acceptTool,
  ).requiredOption('--pins <file>', 'the file with the accepted definitions')
  return new Command('gateway')
    .description('Serves several servers behind one endpoint.')
    .addCommand(start)
    .addCommand(check)
    .addCommand(accept)
}
