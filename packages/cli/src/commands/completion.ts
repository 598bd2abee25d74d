import { Argument, type Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'

export function completionCommand(host: CommandHost): Command {
  const command: Command = createCommand(
    host,
    {
      usage: 'completion',
      description: 'Writes the completion of commands and options, for bash, zsh or fish.',
      example: 'completion bash >> ~/.bashrc',
    },
    async () => {
      const { writeCompletion } = await import('../completion/write-completion.ts')
      return async ({ printer }, _, [shell = '']) => writeCompletion(printer, shell, command.parent ?? command)
    },
  )
  return command.addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
}
