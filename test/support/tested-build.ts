/** Whether the tests use the sources or, with `npm run test:dist`, the package that was built from them. */
const usesPackage = process.env['VENTUNO_TESTED'] === 'package'

/** For the option `skip` of a test that also changes or looks into modules that the package has inside its bundle. */
export function notInPackage(reason: string): string | false {
  return usesPackage && `only with the sources: ${reason}`
}
