// A vitest reporter that names each skipped test with its reason, so that nothing is left out in silence.
// The reason is the text given to `context.skip('…')`.

export default class SkipReporter {
  onTestRunEnd(modules) {
    const lines = [];
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const { note } = test.result();
        lines.push(`  ${module.relativeModuleId} > ${test.fullName}: ${note ?? 'no reason given'}`);
      }
    }
    if (lines.length > 0) console.log(`\nSkipped tests and why:\n${lines.join('\n')}`);
  }
}
