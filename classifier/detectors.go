package classifier

// metaprogramming is what a header of types computed from types shows, and what speaks against it.
var metaprogramming = []evidence{
	{cueMeta, 3, many}, {cueConstraint, 3, many}, {cueSpecialised, 3, many}, {cueTrait, 2, many}, {cuePack, 2, many},
	{cueTemplateHead, 1, many}, {cueDeduction, 1, many}, {cueMember, 1, many},
	{cueRuntime, -3, many}, {cueAssertion, -2, many}, {cueContainer, -2, many}, {cueAlgorithm, -2, many},
	{cueRange, -2, many},
	{cueOwnership, -2, many}, {cueAllocate, -2, many}, {cueAtomic, -2, many}, {cueThread, -2, many},
}

// notTemplates holds for texts without a template, and for those whose names are about something else.
func notTemplates(s sheet) bool { return s[cueTemplateHead] == 0 || 100*s[cueTopic] > s[cueWord] }

// many is a bound that no text reaches.
const many = 1 << 20

// detectors decide before the trained model, in this order: what a tool printed says more than what the code is like,
// and the more specific report comes first.
//
// Precision was measured on labelled texts of 49 repositories (12,507, on which the weights were set) and of 17 others
// (1,492, on which they were not). The labels go by repository and path, and about one in eleven is wrong. As
// right/fired on the first and, in brackets, on the second:
//
//	sanitizer-trace      63/65    (7/7)     both wrong ones are traces in a build tool's manual
//	stack-trace          37/37    (3/3)
//	linker-error         18/18    (2/2)
//	instantiation-error  45/45    (2/2)
//	build-error          227/227  (1/1)
//	build-file           256/256  (40/41)
//	sfinae-header        11/11    (0/0)     from 24 points on 21/23, from 20 on 31/34: precision goes before reach
//
// precision is (right+1)/(fired+2) on the first: few trials are no certainty.
var detectors = [...]detector{
	{
		name: "sanitizer-trace", target: "debug", precision: 0.955, fires: 3,
		evidence: []evidence{{cueSanitizer, 3, many}, {cueRuntimeError, 3, many}, {cueValgrind, 2, many},
			{cueFrame, 1, many}},
		unless: func(s sheet) bool { return s[cueSanitizer]+s[cueRuntimeError]+s[cueValgrind] == 0 },
	},
	{
		name: "stack-trace", target: "debug", precision: 0.974, fires: 2,
		evidence: []evidence{{cueDebugger, 2, many}, {cueFrame, 1, many}, {cueCrash, 1, many}},
	},
	{
		name: "linker-error", target: "build", precision: 0.950, fires: 1,
		evidence: []evidence{{cueLinker, 1, many}},
	},
	{
		name: "instantiation-error", target: "template", precision: 0.979, fires: 2,
		evidence: []evidence{{cueInstantiation, 1, many}},
	},
	{
		name: "build-error", target: "build", precision: 0.996, fires: 2,
		evidence: []evidence{{cueBuildError, 2, many}, {cueBuildStopped, 1, many}, {cueBuildOutput, 1, many}},
	},
	{
		// One variable's name counts, more say nothing: manuals are full of them.
		name: "build-file", target: "build", precision: 0.996, fires: 2,
		evidence: []evidence{{cueBuildStep, 1, many}, {cueBuildName, 1, 1}},
	},
	{
		// Types computed from types, nearly nothing that runs, and names that are about nothing else: a template of an
		// allocator is not it.
		name: "sfinae-header", target: "template", precision: 0.923, fires: 30,
		evidence: metaprogramming,
		unless:   notTemplates,
	},
}

// hints are too often wrong to overrule a trained model, and right more often than a fallback: they are asked where
// there is no model, or it failed. Measured as the detectors were.
//
//	metaprogramming  78/94  (1/2)   sfinae-header's evidence, from 8 points on
//	synchronisation  14/18  (9/10)
//	ownership        12/12  (0/0)   all of one repository
//	algorithms       9/9    (0/0)   of two
var hints = [...]detector{
	{
		name: "metaprogramming", target: "template", precision: 0.823, fires: 8,
		evidence: metaprogramming,
		unless:   notTemplates,
	},
	{
		name: "synchronisation", target: "concurrency", precision: 0.750, fires: 6,
		evidence: []evidence{
			{cueThread, 1, many}, {cueAtomic, 1, many},
			{cueContainer, -2, many}, {cueAlgorithm, -2, many}, {cueRange, -2, many}, {cueOwnership, -2, many},
			{cueAllocate, -2, many},
		},
	},
	{
		name: "ownership", target: "memory", precision: 0.929, fires: 8,
		evidence: []evidence{
			{cueOwnership, 1, many}, {cueAllocate, 1, many},
			{cueContainer, -2, many}, {cueAlgorithm, -2, many}, {cueRange, -2, many}, {cueThread, -2, many},
			{cueAtomic, -2, many},
		},
	},
	{
		name: "algorithms", target: "algo", precision: 0.909, fires: 5,
		evidence: []evidence{
			{cueAlgorithm, 1, many},
			{cueOwnership, -2, many}, {cueAllocate, -2, many}, {cueThread, -2, many}, {cueAtomic, -2, many},
		},
	},
}
