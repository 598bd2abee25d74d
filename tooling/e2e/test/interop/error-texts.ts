import { isMcpError } from '@x/schema'
import { type Context, isInputDeclined, isSuspension, ToolError } from '@x/server'

/** Wraps a handler of a tool, so that the model reads the text of every error, as with the official SDK. */
export const withErrorTexts =
  <Args, Result>(run: (args: Args, ctx: Context) => Promise<Result>) =>
  async (args: Args, ctx: Context): Promise<Result> => {
    try {
      return await run(args, ctx)
    } catch (error) {
      if (isSuspension(error) || isInputDeclined(error) || isMcpError(error)) throw error
      throw new ToolError(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }
