package plugins

// JudgesLoad implements routing.LoadJudge.
func (powerOfTwo) JudgesLoad() {}

// JudgesLoad implements routing.LoadJudge.
func (*leastLoad) JudgesLoad() {}

// JudgesLoad implements routing.LoadJudge.
func (deviceAware) JudgesLoad() {}

// RanksByScore implements routing.ScoreRanker.
func (*maxScore) RanksByScore() {}
