/**
 * Validators of zod for the types of the protocol.
 *
 * @module @x/schema/zod
 */

import * as shapes from './published-shapes.ts'

export { issueOf, type Validator } from './methods/complete-result.zod.ts'
export { paramsValidators, resultValidators } from './methods/methods.zod.ts'
export { type ZodOf, zodOf } from './basic/zod-of.ts'

/**
 * The shape of each type of the protocol, under its name in lower camel case: `zodOf(shapes.callToolResult)` validates
 * a `CallToolResult`.
 */
export { shapes }
