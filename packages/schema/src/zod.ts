/**
 * Zod validators for the types of the protocol.
 *
 * @module @x/schema/zod
 */

import * as shapes from './published-shapes.ts'

export { issueOf, type Validator } from './methods/complete-result.zod.ts'
export { paramsValidators, resultValidators } from './methods/methods.zod.ts'
export { type ZodOf, zodOf } from './basic/zod-of.ts'

/**
 * Shapes of the protocol types, each with the name of its type in lower camel case. For example,
 * `zodOf(shapes.callToolResult)` validates a `CallToolResult`.
 */
export { shapes }
